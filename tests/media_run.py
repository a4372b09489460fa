"""A script that logs every kind of media, for the recorder and for the real SDK, and what its log holds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conftest import WandbInspect
from recorded import environment

SCRIPT = """
import datetime, io, os, sys
import numpy as np
import MODULE as wandb
from PIL import Image as Pillow

quiet = {"x_disable_stats": True, "x_save_requirements": False, "x_disable_machine_info": True, "console": "off"}
run = wandb.init(project="p", id="media", mode="offline", settings=quiet)
pixels = np.arange(8 * 9 * 3, dtype=np.uint8).reshape(8, 9, 3)
Pillow.fromarray(pixels).save("a.png")
Pillow.fromarray(pixels).save("b.jpg")
for name, text in {"x.txt": "hello", "m.pdb": "ATOM", "o.obj": "v 0 0 0", "v.mp4": "mp4", "s.wav": "RIFF"}.items():
    open(name, "w").write(text)
os.makedirs("d/e")
open("d/e/f.txt", "w").write("f")
open("d/g.py", "w").write("g")

image = wandb.Image("a.png", caption="one", grouping=3)
wandb.log({"img": image, "deep": {"k": image}, "s/lash": wandb.Image("a.png"), "../up": wandb.Image("b.jpg")})
wandb.log({"list": [wandb.Image("a.png", caption="c"), wandb.Image("b.jpg")], "pil": wandb.Image(Pillow.open("a.png"))})
wandb.log({"html": wandb.Html("<h1>é</h1>"), "head": wandb.Html("<html><head><title>t</title></head></html>"),
    "plain": wandb.Html("<p>", inject=False), "pages": [wandb.Html("a"), wandb.Html("b")]})
labels = {1: "cat", 2: "dog"}
box = {"position": {"minX": 0, "maxX": 0.5, "minY": 0, "maxY": 0.5}, "class_id": 1, "scores": {"p": 0.5},
    "box_caption": "é"}
middle = {"position": {"middle": [3, 4], "width": 2, "height": 2}, "domain": "pixel", "class_id": 2}
boxed = wandb.Image("a.png", classes=[{"id": 5, "name": "five"}],
    boxes={"pred": {"box_data": [box], "class_labels": labels}, "bare": {"box_data": [middle]}},
    masks={"gt": {"path": "a.png"}})
wandb.log({"boxed": boxed})
wandb.log({"boxes": [boxed, wandb.Image("a.png")]})

when = datetime.datetime(2020, 1, 2)
table = wandb.Table(columns=["n", "s", "img", "mix", "l", "d", "arr", "when", "b"], data=[
    [1, "a", wandb.Image("a.png"), None, [1, 2], {"k": 1}, np.arange(3), when, True],
    [2.5, "é", boxed, "x", [3], {"k": 2}, np.arange(3), when, False]])
wandb.log({"table": table, "loss": 1})
grid = wandb.Table(data=np.arange(6).reshape(2, 3), columns=["a", "b", "c"])
grid.add_column("z", [1.5, float("nan")], optional=True)
grid.add_data(7, 8, 9, None)
wandb.log({"dir/grid 2": grid})
wandb.log({"dir/grid 2": grid})
changing = wandb.Table(columns=["x"], log_mode="MUTABLE")
changing.add_data(1)
wandb.log({"changing": changing})
changing.add_data(2)
wandb.log({"changing": changing})
wandb.log({"arrays": wandb.Table(columns=["big", "matrix"], data=[[np.zeros(200), np.ones((2, 3))]])})

two = lambda *rows: wandb.Table(columns=["x", "y"], data=list(rows))
wandb.log({
    "line": wandb.plot.line(two([1, 2], [3, 4]), "x", "y", title="T"),
    "series": wandb.plot.line_series([0, 1], [[1, 2], [3, 4]], keys=["a", "b"], title="t"),
    "bar": wandb.plot.bar(two(["a", 1]), "x", "y"),
    "hist": wandb.plot.histogram(two([1, 2]), "x"),
    "scatter": wandb.plot.scatter(two([1, 2]), "x", "y", split_table=True),
    "confusion": wandb.plot.confusion_matrix(y_true=[0, 1, 1], preds=[0, 1, 0], class_names=["a", "b"]),
    "unnamed": wandb.plot.confusion_matrix(y_true=[3, 5], probs=[[0, 0, 0, 1], [1, 0, 0, 0]]),
    "nested": {"p": wandb.plot.line(two([1, 2]), "x", "y")},
    "any": wandb.plot_table("me/preset", two([1, 2]), {"x": "x"}, {"title": "t"}),
})
points = np.arange(9).reshape(3, 3) / 7
cube = wandb.box3d(center=(0, 0, 0), size=(1, 2, 3), orientation=(1, 0, 0.5, 0), color=(1, 2, 3), label="l", score=0.5)
wandb.log({"points": wandb.Object3D(points), "clouds": [wandb.Object3D(points), wandb.Object3D(np.ones((2, 6)))],
    "scene": wandb.Object3D.from_point_cloud(points=[[1.0, 2.0, 3.0]], boxes=[cube]), "obj": wandb.Object3D("o.obj")})
wandb.log({"mol": wandb.Molecule("m.pdb", caption="m"), "mols": [wandb.Molecule("m.pdb"), wandb.Molecule("m.pdb")]})
wandb.log({"vid": wandb.Video("v.mp4", caption="v"),
    "vids": [wandb.Video("v.mp4"), wandb.Video(io.BytesIO(b"gif"), format="gif")],
    "sound": wandb.Audio("s.wav", caption="a", sample_rate=8000)})
run.summary["simg"] = wandb.Image("a.png")
run.summary["stable"] = two([1, 2])

run.save("x.txt")
run.save("x.txt", policy="now")
run.save("*.tx?", policy="end")
run.save(os.path.abspath("d/g.py"))
run.save("d/e/*", base_path="d")
artifact = wandb.Artifact("model-1", "model", description="d", metadata={"k": 1, "nan": float("nan"), "a": np.ones(2)})
artifact.add_file("x.txt")
artifact.add_file("x.txt", name="again/x.txt")
artifact.add_dir("d", name="sub")
with artifact.new_file("new/file.txt") as file:
    file.write("new")
artifact.add(wandb.Table(columns=["x", "im"], data=[[1, wandb.Image("a.png")]]), "tab")
artifact.add(wandb.Image("a.png"), "pic")
artifact.add_reference("file://" + os.path.abspath("x.txt"), name="ref.txt")
run.log_artifact(artifact, aliases=["best"], tags=["t 1"])
run.log_artifact("x.txt")
run.log_artifact("d", name="dd", type="dataset")
run.log_code("d", name="code-d")
run.log_model("x.txt", name="mm")
run.finish()
"""


@dataclass(frozen=True)
class Recorded:
    """A run of the script: its directory, and the records of its log as `wandb leet inspect` decodes them."""

    directory: Path
    records: list[dict[str, Any]]

    def of_kind(self, kind: str) -> list[Any]:
        """The records of a kind, client ids made equal."""
        return [json.loads(_plain_ids(json.dumps(each[kind]))) for each in self.records if each["type"] == kind]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of history by dotted key, without their times."""
        rows = [record["item"] for record in self.of_kind("history")]
        return [{k: v for k, v in row.items() if k not in ("_runtime", "_timestamp")} for row in rows]

    @property
    def files(self) -> set[str]:
        """What lies below `files/`."""
        top = self.directory / "files"
        return {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()} - {"output.log"}

    def artifacts(self) -> dict[str, dict[str, Any]]:
        """The artifacts by name and number of files, with content by path."""
        found = {}
        for number, record in enumerate(self.of_kind("artifact")):
            contents = {entry["path"]: entry for entry in record["manifest"].pop("contents")}
            found[f"{number} {record['name']}"] = {**record, "contents": contents}
        return found


def record(module: str, directory: Path, wandb_inspect: WandbInspect) -> Recorded:
    """Runs the script with a module and decodes its log."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("MODULE", module)],
        cwd=directory,
        env=environment({"WANDB_DATA_DIR": str(directory / "data"), "HOME": str(directory)}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (run,) = directory.glob("wandb/offline-run-*-media")
    shown = wandb_inspect(run / "run-media.wandb")
    assert b"skipped" not in shown.stderr
    return Recorded(run, [json.loads(line) for line in shown.stdout.splitlines()])


def _plain_ids(text: str) -> str:
    return re.sub(r"\b[a-z0-9]{128}\b", "ID", text)
