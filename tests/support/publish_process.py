"""Publishes in processes that tests start and kill. A script, not a test.

publish_process.py publish STORE NAME START FOLDER...    when START exists, publish the folders one after another
publish_process.py move STORE NAME START REVISION...     when START exists, move the tag to the revisions, which need
                                                         not be stored, one after another
publish_process.py limited STORE NAME BYTES FOLDER       publish while no file may exceed BYTES, as on a full disk
publish_process.py killed STORES NAME FOLDER             STORES/0 is a store; for n = 1, 2, … copy it to STORES/n and
                                                         kill a publish at its n-th change of the disk, until one ends
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
from pathlib import Path

from model_store import fileio
from model_store.errors import StoreError
from model_store.local.store import Store
from model_store.local.tags import move_tag
from model_store.transfer.publish import publish

CHANGES = {"os.rename", "os.link", "os.mkdir", "os.chmod", "os.utime", "os.remove", "os.rmdir"}


def publish_at_once(store: Path, name: str, start: Path, *folders: Path) -> None:
    wait_for(start)
    for folder in folders:
        print(publish(folder, name, Store(store)).revision.revision)


def move_at_once(store: Path, name: str, start: Path, *revisions: Path) -> None:
    wait_for(start)
    for revision in revisions:
        move_tag(Store(store).layout, name, "stable", str(revision))


def wait_for(start: Path) -> None:
    deadline = time.monotonic() + 30
    while not start.exists() and time.monotonic() < deadline:
        time.sleep(0.001)


def publish_limited(store: Path, name: str, limit: Path, folder: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(str(limit)), resource.RLIM_INFINITY))
    try:
        publish(folder, name, Store(store))
    except StoreError as error:
        print(type(error).__name__)


def publish_killed(stores: Path, name: str, folder: Path) -> None:
    fileio.CHUNK_BYTES = 1024
    number = 0
    survived = False
    while not survived:
        number += 1
        shutil.copytree(stores / "0", stores / str(number))
        child = os.fork()
        if child == 0:
            _publish_until(number, stores / str(number), name, folder)
            os._exit(0)
        survived = os.waitpid(child, 0)[1] == 0
    print(number)


def _publish_until(last_change: int, store: Path, name: str, folder: Path) -> None:
    left = last_change

    def count() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or writes:
            count()

    sys.addaudithook(watch)
    publish(folder, name, Store(store), progress=lambda _done, _total: count())


if __name__ == "__main__":
    place, model_name, paths = Path(sys.argv[2]), sys.argv[3], [Path(argument) for argument in sys.argv[4:]]
    match sys.argv[1]:
        case "publish":
            publish_at_once(place, model_name, *paths)
        case "move":
            move_at_once(place, model_name, *paths)
        case "limited":
            publish_limited(place, model_name, *paths)
        case "killed":
            publish_killed(place, model_name, *paths)
