"""Airflow: a day's objects, sent to a fleet and waited for. Copy it into the DAGs' folder; `gleaner` on the workers.

    pip install apache-airflow    # 300 MB

Each step may be tried again: `start` sends what has no answer, and a job that is done is done. `status` ends with 3
while the fleet works, so that the sensor looks again in five minutes and holds no worker meanwhile; with 1, dead
letters, the run fails, and `gleaner bulk retry` is a person's decision. The workers need
GLEANER_BULK_QUEUE, GLEANER_MODEL_REMOTE, and rights to both prefixes, the queue and its dead letters.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.sensors.bash import BashSensor
from airflow.sdk import DAG

IN, OUT = "s3://documents/in/{{ ds }}/", "s3://documents/out/{{ ds }}/"
WORKING = 3

with DAG("gleaner_bulk", schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False) as dag:
    start = BashOperator(
        task_id="start",
        bash_command=f"gleaner bulk start {IN} {OUT} --fields",
        retries=3,
    )
    wait = BashSensor(
        task_id="wait",
        bash_command=f"gleaner bulk status {OUT}",
        retry_exit_code=WORKING,
        mode="reschedule",
        poke_interval=timedelta(minutes=5),
        timeout=timedelta(hours=20),
    )
    finish = BashOperator(task_id="finish", bash_command=f"gleaner bulk finish {OUT} --lines", retries=3)
    start >> wait >> finish
