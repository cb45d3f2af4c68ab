"""A headless Chromium that a test drives: opens a page, runs JavaScript in it, takes pictures.

It speaks the DevTools protocol through two pipes, so no package is needed beside the browser
(Debian: chromium, or the smaller chromium-headless-shell).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The browser, or None where none is installed."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page of a browser; use it in a `with` statement."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="tilewright-browser-", ignore_cleanup_errors=True
        )
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def place_pipes() -> None:
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        command = [
            str(find_browser()), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--window-size={width},{height}",
            f"--user-data-dir={self._folder.name}",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, preexec_fn=place_pipes, pass_fds=(3, 4), stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        self._unread = b""
        self._last = 0
        self.requests: list[str] = []  # addresses that pages have loaded
        self.errors: list[str] = []  # exceptions of their scripts
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._folder.cleanup()

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            piece = os.read(self._from, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._unread += piece
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method of the DevTools protocol; what it returns."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self.errors.append(json.dumps(details.get("exception", details)))
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, page: Path, ready: str = "document.readyState === 'complete'") -> None:
        """Opens a file and waits until the expression `ready` holds."""
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait(ready)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"].get("exception", {})))
        return result["result"].get("value")

    def wait(self, condition: str, seconds: float = 30) -> None:
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Presses a key."""
        code = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code)

    def picture(self, file: Path, whole: bool = False) -> None:
        """Writes what the page looks like as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def set_dark(self, is_dark: bool) -> None:
        """Whether the page sees a dark colour scheme."""
        value = "dark" if is_dark else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def print_to(self, file: Path) -> None:
        """Prints the page to a PDF."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF")["data"]))
