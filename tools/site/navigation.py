"""Where each page stands in the site: every page once."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SECTIONS: dict[str, list[str]] = {
    "Learn": [
        "README.md",
        "docs/tutorial.md",
        "docs/coming-from-celery.md",
        "docs/coming-from-procrastinate.md",
        "docs/coming-from-rq.md",
        "docs/coming-from-django-tasks.md",
        "docs/recipes/*.md",
        "examples/README.md",
        "examples/*/README.md",
    ],
    "Use": [
        "docs/handlers.md",
        "docs/job-ends.md",
        "docs/args.md",
        "docs/kinds.md",
        "docs/sync.md",
        "docs/exactly-once.md",
        "docs/chains.md",
        "docs/uniqueness.md",
        "docs/limits.md",
        "docs/schedules.md",
        "docs/time-limits.md",
        "docs/progress-and-logs.md",
        "docs/processes.md",
        "docs/middlewares.md",
        "docs/payloads.md",
        "docs/egress.md",
        "docs/crawling.md",
        "docs/testing.md",
        "docs/django.md",
    ],
    "Operate": [
        "docs/operate.md",
        "docs/dashboard.md",
        "docs/diagnosis.md",
        "docs/dead-letters.md",
        "docs/workers.md",
        "docs/capacity.md",
        "docs/observability.md",
        "docs/security.md",
        "docs/upgrading.md",
        "docs/moving-in.md",
        "docs/agents.md",
        "deploy/README.md",
        "deploy/*/README.md",
    ],
    "Look up": [
        "docs/cli.md",
        "docs/settings.md",
        "docs/api.md",
        "docs/client.md",
        "docs/sql.md",
        "docs/http-api.md",
    ],
    "Understand": [
        "docs/architecture.md",
        "docs/jobs.md",
        "docs/leases.md",
        "docs/failover.md",
        "docs/lease-model.md",
        "docs/reliability.md",
        "docs/benchmarks.md",
        "docs/mission.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "sql/functions/README.md",
        "sql/former/README.md",
    ],
    "Decisions": ["docs/decisions/*.md"],
}
"""The pages of each part, in order. A pattern stands for those that no line names, sorted by name."""


def placed() -> dict[str, list[Path]]:
    """The pages of each part, as paths."""
    return {title: [page for line in lines for page in sorted(ROOT.glob(line))] for title, lines in SECTIONS.items()}


def place_of(page: Path) -> Path:
    """Where a page of the repository stands in the site."""
    path = page.relative_to(ROOT)
    if path == Path("README.md"):
        return Path("index.md")
    if path.parts[0] == "docs":
        path = path.relative_to("docs")
    if path.name == "README.md":
        return path.parent / "index.md"
    return Path("security-policy.md") if path == Path("SECURITY.md") else path.with_name(path.name.lower())
