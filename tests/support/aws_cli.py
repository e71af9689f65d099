"""An `aws` command with a memory: of AWS's behaviour, what makes deployments fail. State: a JSON file, $STATE.

A stack whose creation failed cannot be deployed, nor one without an export that another imports; a cluster needs ECS's
role; a group with instances, or a warm pool, is never deleted; instances of a pool keep the version that they were
launched with. An instance goes on to its next lifecycle state each time that the group is looked at; only one in
service has its protection changed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

State = dict[str, Any]

FRESH: State = {
    "calls": [],
    "roles": [],
    "stacks": {},
    "version": 0,
    "tag": None,
    "images": ["v1", "v2"],
    "instances": {},
    "wanted": 2,
    "protects_new": True,
    "idle": "i-1",
    "agent_answers": True,
    "pool": None,
    "pool_deleting": 0,
    "publishes": True,
    "alarms": [],
    "secret": "# none yet",
    "quotas": {"L-DB2E81BA": 500.0, "L-3819A6DF": 500.0},
    "zones": {"eu-central-1a": ["g6.xlarge"], "eu-central-1b": ["g5.xlarge"]},
    "templates": {},
    "stock_out": False,
    "certificate": "ISSUED",
    "images_run": [],
    "refreshing": False,
}
OUTPUTS = {
    "Repository": "1.dkr/images",
    "ModelBucket": "models",
    "ApiKeysSecret": "arn:secret",
    "AlarmTopic": "arn:topic",
}


class Refused(Exception):
    """AWS's answer is an error."""


class FakeAws:
    """The commands that the scripts use, over one state."""

    def __init__(self, state: State, arguments: list[str]) -> None:
        self.state, self.words = state, arguments
        self.options = {
            name.removeprefix("--"): value
            for name, value in zip(arguments, [*arguments[1:], ""], strict=True)
            if name.startswith("--")
        }

    def answer(self) -> str:
        """What the command prints."""
        name = "_".join(self.words[:2]).replace("-", "_")
        found = getattr(self, name, None)
        return str(found()) if found else ""

    def iam_create_service_linked_role(self) -> str:
        role = self.options["aws-service-name"]
        if role in self.state["roles"]:
            raise Refused("has been taken in this account")
        self.state["roles"].append(role)
        return ""

    def cloudformation_describe_stacks(self) -> str:
        status = self.state["stacks"].get(self.options["stack-name"])
        if status is None:
            raise Refused("does not exist")
        wanted = self.options["query"]
        answers = {**OUTPUTS, "StackStatus": status, "'MachineImage'].ResolvedValue": "ami-0aws"}
        return next((answers[key] for key in answers if key in wanted), "address")

    def cloudformation_deploy(self) -> str:
        name = self.options["stack-name"]
        if self.state["stacks"].get(name) in ("ROLLBACK_COMPLETE", "DELETE_FAILED"):
            raise Refused(f"{name} is in {self.state['stacks'][name]} state and can not be updated")
        if name.endswith("-fleet"):
            if "ecs.amazonaws.com" not in self.state["roles"]:
                self.state["stacks"][name] = "ROLLBACK_COMPLETE"
                raise Refused("Unable to assume the service linked role")
            given = self.words[self.words.index("--parameter-overrides") + 1 :]
            values = dict(each.split("=", 1) for each in given)
            if self.state["stock_out"]:
                raise Refused("ECS Deployment Circuit Breaker was triggered")
            self._launch(values["ImageTag"])
        template, templates = json.loads(Path(self.options["template-file"]).read_text()), self.state["templates"]
        used = {export for stack in templates if stack != name for export in templates[stack].get("Imports", ())}
        for export in templates.get(name, {}).get("Outputs", {}).keys() & used - template.get("Outputs", {}).keys():
            raise Refused(f"Cannot delete export {export} as it is in use")
        templates[name] = template
        self.state["stacks"][name] = "CREATE_COMPLETE"
        return ""

    def cloudformation_get_template(self) -> str:
        name = self.options["stack-name"]
        if name not in self.state["templates"]:
            raise Refused(f"Stack with id {name} does not exist")
        return json.dumps({"TemplateBody": self.state["templates"][name]})

    def autoscaling_describe_scaling_activities(self) -> str:
        assert "--include-deleted-groups" in self.words
        rows = ["2020-01-01T00:00:00.5+00:00\tlong ago"]
        now = "9999-01-01T00:00:00.5+00:00\tWe currently do not have sufficient g6.xlarge capacity"
        return "\n".join([*rows, now] if self.state["stock_out"] else rows)

    def _launch(self, tag: str) -> None:
        if tag != self.state["tag"]:
            self.state.update(tag=tag, version=self.state["version"] + 1)
        if not self.state["instances"]:
            self.state["instances"] = {name: ["InService", True] for name in ("i-1", "i-2")}
            self.state["pool"] = [str(self.state["version"])] * 2

    def cloudformation_delete_stack(self) -> str:
        name = self.options["stack-name"]
        held = self.state["instances"] or self.state["pool"] or self.state["pool_deleting"]
        if name.endswith("-fleet") and held:
            self.state["stacks"][name] = "DELETE_FAILED"
        else:
            self.state["stacks"].pop(name, None)
            self.state["templates"].pop(name, None)
        return ""

    def cloudformation_wait(self) -> str:
        if self.options["stack-name"] in self.state["stacks"]:
            raise Refused("Waiter StackDeleteComplete failed: Max attempts exceeded")
        return ""

    def autoscaling_describe_auto_scaling_groups(self) -> str:
        if "LifecycleState" in self.options["query"]:
            self._go_on()
            rows = [f"{name}\t{state}\t{kept}" for name, (state, kept) in self.state["instances"].items()]
            return "\n".join(rows)
        if "Version" in self.options["query"]:
            return str(self.state["version"])
        return "gleaner-production"

    def _go_on(self) -> None:
        """Each instance's next state; a hook of ECS's waits until its agent has said that no task is left."""
        following = {"Pending": "Pending:Wait", "Pending:Wait": "InService", "Terminating": "Terminating:Wait"}
        for name, (state, kept) in [*self.state["instances"].items()]:
            if state == "Terminating:Proceed":
                del self.state["instances"][name]
            elif state == "Terminating:Wait":
                self._set(name, "Terminating:Proceed" if self.state["agent_answers"] else state, kept)
            elif state == "InService" and not kept and not self.state["wanted"]:
                self._set(name, "Terminating", kept)
            elif state in following:
                self._set(name, following[state], kept or (state == "Pending:Wait" and self.state["protects_new"]))

    def _set(self, name: str, state: str, kept: bool) -> None:
        self.state["instances"][name] = [state, kept]

    def autoscaling_update_auto_scaling_group(self) -> str:
        self.state["wanted"] = int(self.options["desired-capacity"])
        self.state["protects_new"] = "--no-new-instances-protected-from-scale-in" not in self.words
        return ""

    def ecs_update_service(self) -> str:
        """ECS lets an instance go at once that has no task."""
        if self.state["idle"] in self.state["instances"]:
            self._set(self.state["idle"], "Terminating:Wait", False)
        return ""

    def autoscaling_set_instance_protection(self) -> str:
        start = self.words.index("--instance-ids") + 1
        names = [each for each in self.words[start:] if each.startswith("i-")]
        for name in names:
            if self.state["instances"][name][0] != "InService":
                raise Refused(f"The instance {name} is not in InService or EnteringStandby or Standby.")
        for name in names:
            self._set(name, "InService", "--protected-from-scale-in" in self.words)
        return ""

    def autoscaling_complete_lifecycle_action(self) -> str:
        name = self.options["instance-id"]
        if self.state["instances"][name][0] != "Terminating:Wait":
            raise Refused(f"No active Lifecycle Action found with instance ID {name}")
        self._set(name, "Terminating:Proceed", False)
        return ""

    def autoscaling_delete_warm_pool(self) -> str:
        self.state.update(pool=None, pool_deleting=1 if self.state["stacks"].get("watched") else 0)
        return ""

    def autoscaling_describe_warm_pool(self) -> str:
        if "Status" in self.options["query"]:
            self.state["pool_deleting"] = max(self.state["pool_deleting"] - 1, 0)
            return "PendingDelete" if self.state["pool_deleting"] else "None"
        return "\t".join(self.state["pool"] or [])

    def autoscaling_put_warm_pool(self) -> str:
        assert self.options["min-size"] == self.options["max-group-prepared-capacity"]
        self.state["pool"] = [str(self.state["version"])] * int(self.options["min-size"])
        return ""

    def secretsmanager_get_secret_value(self) -> str:
        return str(self.state["secret"])

    def secretsmanager_put_secret_value(self) -> str:
        self.state["secret"] = self.options["secret-string"]
        return ""

    def ecr_describe_images(self) -> str:
        tag = self.options["image-ids"].partition("=")[2]
        if tag not in self.state["images"]:
            raise Refused("ImageNotFoundException")
        return ""

    def cloudwatch_set_alarm_state(self) -> str:
        self.state["alarms"].append(self.options["state-value"])
        return ""

    def cloudwatch_describe_alarm_history(self) -> str:
        if self.state["alarms"][-2:] != ["OK", "ALARM"]:
            return "None"
        return f"{'Successfully executed' if self.state['publishes'] else 'Failed to execute'} action arn:topic"

    def sns_get_topic_attributes(self) -> str:
        return "1"

    def service_quotas_get_service_quota(self) -> str:
        return json.dumps({"Quota": {"Value": self.state["quotas"][self.options["quota-code"]]}})

    def ec2_describe_instances(self) -> str:
        return "\t".join(self.state["images_run"]) if "query" in self.options else json.dumps({"Reservations": []})

    def autoscaling_start_instance_refresh(self) -> str:
        assert json.loads(self.options["preferences"])["ScaleInProtectedInstances"] == "Refresh"
        if self.state["refreshing"]:
            raise Refused("An Instance Refresh is already in progress")
        self.state["refreshing"] = True
        return "refresh"

    def ec2_describe_availability_zones(self) -> str:
        return json.dumps({"AvailabilityZones": [{"ZoneName": zone} for zone in self.state["zones"]]})

    def ec2_describe_instance_type_offerings(self) -> str:
        pairs = [(zone, each) for zone, types in self.state["zones"].items() for each in types]
        return json.dumps({"InstanceTypeOfferings": [{"Location": zone, "InstanceType": each} for zone, each in pairs]})

    def acm_describe_certificate(self) -> str:
        return json.dumps({"Certificate": {"Status": self.state["certificate"]}})


def main() -> int:
    """Answer one command."""
    path = Path(os.environ["STATE"])
    state = json.loads(path.read_text())
    state["calls"].append(" ".join(sys.argv[1:]))
    try:
        text = FakeAws(state, sys.argv[1:]).answer()
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 254
    finally:
        path.write_text(json.dumps(state))
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
