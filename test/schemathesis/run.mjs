/**
 * Runs Schemathesis (PyPI) with all of its checks against the real service: it sends right and wrong requests made
 * from the OpenAPI document, and compares every answer with the document. Run with `node test/schemathesis/run.mjs`;
 * ends with `N passed, N failed`, where each operation of the document counts as one test, or says why it was
 * skipped.
 *  SCHEMATHESIS_EXAMPLES=50 SCHEMATHESIS_SEED=7 node test/schemathesis/run.mjs --include-path-regex '^/list'
 * Arguments are passed on to Schemathesis. What it needs is installed into the user's cache (or SCHEMATHESIS_HOME),
 * once for each version.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../scripts/lib/steps.mjs';
import { startService } from '../support/described-service.mjs';
import { pythonPrograms, runUnlessSkipped } from '../support/python-program.mjs';

const VERSION = '4.32.5';
const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES ?? '10';
const SEED = process.env.SCHEMATHESIS_SEED ?? '20261121';

/**
 * Operations that answer 400 to some requests that fit the document, because of what the account has or of members
 * that exclude each other, which no schema can say. All others must not answer 400 to a request that fits the
 * document.
 */
const REFUSING_BY_MEANING = {
  'a filter, order, radius or box that the fields of the list do not bear': [
    'search.list',
    'search.list-by-query',
    'search.group',
    'search.group-by-query',
    'search.image',
    'search.image-group',
    'related.list',
    'search-result.delete-matching',
  ],
  'values that are not of the type of their field': [
    'search-result.create',
    'search-result.update',
    'search-result.patch',
    'search-result.bulk',
  ],
  'fields that are of two kinds, or named twice; rules that cannot be compiled': [
    'list.create',
    'list.update',
    'facet.create',
    'facet.update',
    'searchable-field.create',
    'searchable-field.update',
    'resource.create',
    'resource.update',
  ],
  'synonym rules that lack what their kind asks for, or words': ['synonym.update', 'synonym.preview'],
  'lists named twice': ['list-group.create', 'list-group.update'],
  'a scope without its target, permissions that are none, an expiry that is past': ['api-key.create-read-only'],
  'messages that are none of the protocol, of a version that there is not, or not as their headers say; names of no tool':
    ['agent.call'],
  'hosts that are not of the public internet': ['webhook.create', 'webhook.update'],
  'a list outside the group': ['analytics.click-group'],
  'paths that no file can have: control characters, parts that are empty, `.` or `..`': [
    'media.read',
    'media.upload',
    'media.delete',
  ],
  'members of a media store of another kind': ['media-store.create', 'media-store.update'],
  'settings that are those of another provider, addresses that are none': [
    'feed.connect',
    'feed.discover',
    'feed.web-scope',
  ],
};

/** Returns the checks of Schemathesis that apply, and their settings. */
function configuration() {
  const semantic = Object.entries(REFUSING_BY_MEANING).map(
    ([reason, operations]) => `
# ${reason}
[[operations]]
include-operation-id = ${JSON.stringify(operations)}
checks.positive_data_acceptance.expected-statuses = ${JSON.stringify([...ACCEPTED, '400'])}
`,
  );
  return `
# However busy the machine is.
request-timeout = 120
suppress-health-check = ["too_slow"]

[checks.positive_data_acceptance]
expected-statuses = ${JSON.stringify(ACCEPTED)}

[checks.negative_data_rejection]
expected-statuses = ${JSON.stringify(REFUSED)}
${semantic.join('')}
# Headers that nobody names have names that the HTTP library closes connections over (docs/http.md).
[[operations]]
include-operation-id = ["agent.call"]
generation.allow-extra-parameters = false

# A stream without end: so much of it is looked at.
[[operations]]
include-operation-id = ["progress.watch"]
request-timeout = 3
`;
}

/**
 * 422: a well-formed request that cannot be carried out, such as one for a model that is not installed; 414: options
 * too long for a URL; 412: a file is not as `If-Match` requires; 416: it has no such range.
 */
const ACCEPTED = ['2xx', '401', '403', '404', '409', '412', '414', '416', '422', '429', '5xx'];

/** The usual refusals, and that for options too long for a URL. */
const REFUSED = ['400', '401', '403', '404', '405', '406', '409', '414', '415', '422', '428', '429', '5xx'];

/** Counts each operation of the document as one test, and tests that span several as well. Returns the exit status. */
function report(code, output) {
  const tested = Number(/^ *Tested: (\d+)/m.exec(output)?.[1] ?? 0);
  const failures = new Set([...output.matchAll(/^_+ (.+?) _+$/gm)].map((match) => match[1]));
  const failed = code !== 0 && failures.size === 0 ? 1 : failures.size;
  if (failed > 0) process.stdout.write(`${output}\n`);
  process.stdout.write(`${Math.max(0, tested - failed)} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function main() {
  const programs = await pythonPrograms('schemathesis', VERSION, process.env.SCHEMATHESIS_HOME);
  const folder = mkdtempSync(join(tmpdir(), 'gannet-schemathesis-'));
  const service = await startService(join(folder, 'data'));
  try {
    const file = join(folder, 'schemathesis.toml');
    writeFileSync(file, configuration());
    const options = ['--max-examples', EXAMPLES, '--seed', SEED, '--header', `X-API-Key: ${service.key}`];
    const { code, output } = await run(
      join(programs, 'schemathesis'),
      [
        '--config-file',
        file,
        'run',
        `${service.address}/openapi.json`,
        ...['--checks', 'all', '--continue-on-failure', '--no-color', '--generation-database', 'none'],
        ...options,
        ...process.argv.slice(2),
      ],
      { cwd: folder },
    );
    return report(code, output);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await runUnlessSkipped('Schemathesis', main);
