# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium for the tests of pages, driven by the DevTools protocol over two pipes."""

import itertools
import json
import os
import shutil
import subprocess

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
         "--remote-debugging-pipe")


def program():
    """The path of a browser, `None` where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page; `errors` are the errors that the page has reported."""

    def __init__(self, folder):
        here, its = os.pipe(), os.pipe()  # our commands, its answers
        # The browser reads commands from file descriptor 3 and writes answers to 4.
        command = ["bash", "-c", f'exec "$@" 3<&{here[0]} 4>&{its[1]}', "bash", program(), *FLAGS,
                   f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(command, pass_fds=(here[0], its[1]),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(here[0])
        os.close(its[1])
        self.commands, self.answers = os.fdopen(here[1], "wb"), os.fdopen(its[0], "rb")
        self.numbers, self.buffer, self.errors, self.session = itertools.count(1), b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def message(self):
        """The next message of the browser; events that are errors of the page are kept."""
        while b"\0" not in self.buffer:
            read = self.answers.read1(1 << 16)
            if not read:
                raise RuntimeError("the browser ended")
            self.buffer += read
        text, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(text)
        event, facts = message.get("method"), message.get("params", {})
        if event == "Runtime.exceptionThrown" or facts.get("entry", {}).get("level") == "error" \
                or event == "Runtime.consoleAPICalled" and facts["type"] == "error":
            self.errors.append(facts)
        return message

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.commands.write(json.dumps(message).encode() + b"\0")
        self.commands.flush()
        while (answer := self.message()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, path, size, scheme="light", media="screen"):
        """Show a file in a window of `size` (width, height) with a colour scheme."""
        self.errors.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=path.as_uri())
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def run(self, script):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def picture(self):
        """The visible part of the page as PNG, base64."""
        return self.call("Page.captureScreenshot", format="png")["data"]

    def print(self):
        """The page as PDF, base64."""
        return self.call("Page.printToPDF", printBackground=True)["data"]

    def close(self):
        self.commands.close()
        self.answers.close()
        self.process.terminate()
        self.process.wait(10)
