"""Pages in a browser, and words that no page must take for anything else."""

import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "'\"><svg onload=document.title='owned'>",
    "a & b\u2028\\u003c",
    "w" * 300,
]


PHONE = """<!DOCTYPE html><ul></ul>
<iframe src="topics.html" style="width:390px;height:800px;border:0"></iframe>
<script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe").contentWindow, page = frame.document;
  const next = new frame.KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true });
  page.querySelector("#list button")?.focus();
  page.activeElement.dispatchEvent(next);
  page.querySelectorAll("summary").forEach((each) => each.click());
  setTimeout(() => {
    const outcome = {
      ready: page.body.classList.contains("ready"),
      title: page.title,
      images: page.querySelectorAll("img, svg svg, iframe").length,
      topics: page.querySelectorAll("#list button").length,
      chosen: page.getElementById("title")?.textContent,
      word: page.querySelector("#words button")?.textContent,
      rows: new Set([...page.querySelectorAll("#numbers li")].map((bar) => bar.offsetTop)).size,
      numbers: [...page.querySelectorAll("#numbers li")].map((bar) => bar.textContent).filter(Boolean),
      width: page.documentElement.scrollWidth,
    };
    for (const [name, value] of Object.entries(outcome)) {
      const line = document.createElement("li");
      line.textContent = `${name}: ${value}`;
      document.querySelector("ul").append(line);
    }
  }, 200);
});
</script>"""


def outcome_on_a_phone(folder: Path) -> dict[str, str]:
    """What became of the page ``topics.html`` in `folder`, 390 pixels wide, after a key and clicks."""
    (folder / "phone.html").write_text(PHONE, encoding="utf-8")
    return dict(re.findall(r"<li>(\w+): (.*?)</li>", _rendered(folder / "phone.html", folder)))


def _rendered(path: Path, profile: Path) -> str:
    """Return the page's elements after its script has run."""
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        f"--user-data-dir={profile / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
