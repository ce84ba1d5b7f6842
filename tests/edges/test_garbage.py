"""In `dovecote serve` the garbage collector leaves alone what was loaded, and looks seldom at what is new."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

_PROGRAM: Final = """
import gc, json, os, signal, sys, threading, time
from pathlib import Path

from orchestrator.cli.serve import run_serve
from orchestrator.paths import Paths

def look():
    return {"frozen": gc.get_freeze_count(), "new objects": gc.get_threshold()[0]}

def stop_once_it_serves(socket):
    while not socket.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)

home, before = Path(sys.argv[1]), look()
threading.Thread(target=stop_once_it_serves, args=[Paths(home=home).socket], daemon=True).start()
code = run_serve(home)
Path(sys.argv[2]).write_text(json.dumps([code, before, look()]))
"""


def test_what_is_loaded_when_it_serves_is_not_looked_through_again(tmp_path: Path) -> None:
    home, told = tmp_path / "home", tmp_path / "told.json"
    home.mkdir()
    (home / "dovecote.toml").write_text('[agent]\nrunner = "process"\n')

    argv = [sys.executable, "-c", _PROGRAM, str(home), str(told)]
    ended = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False)

    assert ended.returncode == 0, ended.stderr
    code, before, after = json.loads(told.read_text())
    assert code == 0
    assert after["frozen"] > before["frozen"]
    assert after["new objects"] > before["new objects"]
