"""Calls the service by the client that was generated: python calls.py <folder with the package `client`> <address> <key>.

Each call is a test: its answer has to be read into a type of the document, and has to be the one that is expected. The last line is
`N called, N failed`.
"""

import importlib
import io
import pkgutil
import sys
import traceback

folder, address, key = sys.argv[1:]
sys.path.insert(0, folder)

import client as generated  # noqa: E402
import client.api  # noqa: E402
from client import models, types  # noqa: E402

ACCOUNT = "default"
LIST = "birds"
# However busy the machine is.
SECONDS_MAX = 120
FILE = b"Dives for fish."

service = generated.AuthenticatedClient(
    base_url=address, token=key, prefix="", auth_header_name="X-API-Key", timeout=SECONDS_MAX, raise_on_unexpected_status=True
)
operations = {
    module.name.rsplit(".", 1)[-1]: importlib.import_module(module.name)
    for module in pkgutil.walk_packages(generated.api.__path__, "client.api.")
    if not module.ispkg
}
outcomes = []


def call(operation, *path, body=None, expect=None, **options):
    """What an operation answers, as an object of the client; `body` is JSON of a model that its name says, or such an object."""
    try:
        if body is not None:
            kind, content = body
            options["body"] = content if kind is None else getattr(models, kind).from_dict(content)
        answer = operations[operation].sync(ACCOUNT, *path, client=service, **options)
        assert not isinstance(answer, models.Problem), f"it is refused: {answer.detail}"
        if expect is not None:
            assert expect(answer), f"it is answered otherwise: {answer}"
        outcomes.append(True)
        return answer
    except Exception:
        print(f"{operation} {path}:\n{traceback.format_exc()}")
        outcomes.append(False)
        return None


call(
    "list_create",
    body=(
        "ListCreateBody",
        {
            "name": LIST,
            "searchable_fields": [{"name": "title", "weight": 3}, {"name": "text"}],
            "facets": [{"name": "family", "type": "string"}, {"name": "wingspan_cm", "type": "number"}],
            "location_field": "seen_at",
        },
    ),
    expect=lambda answer: answer.current_version == 1,
)
gannet = call(
    "search_result_create",
    LIST,
    body=(
        "SearchResultCreateBody",
        {
            "name": "gannet",
            "fields": {
                "title": "Northern gannet",
                "text": "Dives for fish.",
                "family": "Sulidae",
                "wingspan_cm": 180,
                "seen_at": {"latitude": 56.08, "longitude": -2.64},
            },
        },
    ),
    expect=lambda answer: answer.name == "gannet",
)
call("search_result_read", LIST, gannet.id, expect=lambda answer: answer.fields["title"] == "Northern gannet")
call(
    "search_result_patch",
    LIST,
    gannet.id,
    body=("SearchResultPatchBody", {"fields": {"wingspan_cm": 181}}),
    expect=lambda answer: answer.fields["family"] == ["Sulidae"],
)
call("search_result_list", LIST, expect=lambda answer: answer.total_count == 1)
call("search_list_by_query", LIST, 1, query="norhtern", facets=["family"], expect=lambda answer: answer.total_count == 1)
call(
    "search_list",
    LIST,
    1,
    body=(
        "SearchRequest",
        {
            "query": "fish",
            "filter": "wingspan_cm > 100",
            "radius": {"latitude": 56, "longitude": -2.6, "distance": 20_000},
            "order_by": "distance asc",
            "facets": ["family", "wingspan_cm"],
            "explain": True,
        },
    ),
    expect=lambda answer: answer.results[0].name == "gannet" and answer.results[0].text_score > 0,
)
call("suggest_list_by_query", LIST, 1, query="nor", expect=lambda answer: len(answer.suggestions) > 0)
call("related_list", LIST, 1, "gannet", expect=lambda answer: answer.results == [])
call(
    "synonym_update",
    LIST,
    body=("SynonymUpdateBody", {"rules": [{"kind": "equivalent", "terms": ["solan", "gannet"]}]}),
)
call("list_group_create", body=("ListGroupCreateBody", {"name": "all", "lists": [{"list": LIST}]}))
call("search_group_by_query", "all", "latest", query="solan", expect=lambda answer: answer.results[0].list_name == LIST)
call("analytics_list", LIST)
call("webhook_list")
call("model_list")
call("feed_list")
call("contributor_list")
call("media_store_list", expect=lambda answer: len(answer.media_stores) == 1)
call("media_upload", "default", "notes/ü.txt", body=(None, types.File(payload=io.BytesIO(FILE))))
call("media_read", "default", "notes/ü.txt", expect=lambda answer: answer.payload.read() == FILE)
call("list_list", expect=lambda answer: LIST in [each.name for each in answer.lists])
call("list_delete", LIST)

failed = outcomes.count(False)
print(f"{len(outcomes) - failed} called, {failed} failed")
