"""What a compiled lda.stan does on its command line and writes to its files, in the manner of CmdStan 2.36.

Its draws are made up. The environment has FAKE_SECONDS, of an iteration, and FAKE_FAILS, a chain that fails.
"""

import json
import os
import random
import sys
import time

BEFORE = ["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"]
SWITCHES = ("random", "data", "output", "adapt")
VALUES = [
    "id",
    "seed",
    "init",
    "file",
    "refresh",
    "sig_figs",
    "method",
    "num_samples",
    "num_warmup",
    "algorithm",
    "engine",
    "max_depth",
    "engaged",
    "delta",
]


def arguments():
    """Values by name; `file` is that of the data first and that of the draws then."""
    found = {"files": []}
    for word in sys.argv[1:]:
        name, _, value = word.partition("=")
        if (name not in VALUES) if value else (word not in SWITCHES):
            sys.exit(
                f"{word} is either mistyped or misplaced.\n"
                "Failed to parse command arguments, cannot run model."
            )
        if name == "file":
            found["files"].append(value)
        else:
            found[name] = value
    return found


def simplex(rng, size):
    """Draw from a symmetric Dirichlet distribution."""
    weights = [rng.gammavariate(1.0, 1.0) + 1e-9 for _ in range(size)]
    return [weight / sum(weights) for weight in weights]


def matrix(name, rows):
    """Elements of an array of vectors by name, in the order of their last index."""
    return {f"{name}.{i + 1}.{j + 1}": row[j] for j in range(len(rows[0])) for i, row in enumerate(rows)}


def draw(rng, data, number):
    """All columns of one draw; a third of them diverges, a half reaches the largest tree."""
    deep = number % 2 == 1
    values = dict.fromkeys(BEFORE, 0.5) | {
        "treedepth__": 10 if deep else 2,
        "n_leapfrog__": 1023 if deep else 3,
        "divergent__": int(number % 3 == 2),
    }
    theta = [simplex(rng, data["K"]) for _ in range(data["D"])]
    phi = [simplex(rng, data["V"]) for _ in range(data["K"])]
    raw = [[rng.gauss(0.0, 1.0) for _ in row] for row in theta]
    hyper = {"alpha.1": data["alpha_given"][0], "eta": data["eta_given"][0]}
    return values | matrix("theta_log_h", raw) | hyper | matrix("theta", theta) | matrix("phi", phi)


def main():
    given = arguments()
    warmup, samples, chain = (int(given[name]) for name in ("num_warmup", "num_samples", "id"))
    data_file, draws_file = given["files"]
    if given["engaged"] == "1" and warmup == 0:
        sys.exit(
            "The number of warmup samples (num_warmup) must be greater than zero if adaptation is enabled."
        )
    with open(data_file) as file:
        data = json.load(file)
    if os.environ.get("FAKE_FAILS") == given["id"]:
        print("Rejecting initial value:\n  Log probability evaluates to log(0), i.e. negative infinity.")
        sys.exit("Initialization between (-1, 1) failed after 100 attempts.")
    rng = random.Random(1000 * int(given["seed"]) + chain)
    pause, total, refresh = float(os.environ.get("FAKE_SECONDS", 0)), warmup + samples, int(given["refresh"])
    with open(draws_file, "w", buffering=1) as out:
        print("# stan_version_major = 2\n# method = sample (Default)", file=out)
        for i in range(total):
            if (i + 1) % refresh == 0 or i in (0, warmup, total - 1):
                phase = "Warmup" if i < warmup else "Sampling"
                print(
                    f"Iteration: {i + 1:4d} / {total} [{100 * (i + 1) // total:3d}%]  ({phase})", flush=True
                )
            time.sleep(pause)
            values = draw(rng, data, i - warmup)
            if i == 0:
                print(",".join(values), file=out)
            if i == warmup:
                print("# Adaptation terminated\n# Step size = 0.5", file=out)
            if i >= warmup:
                print(",".join(f"{value:.{given['sig_figs']}g}" for value in values.values()), file=out)
        print(
            "# \n#  Elapsed Time: 0.1 seconds (Warm-up)\n#                0.3 seconds (Total)\n# ", file=out
        )


main()
