/** Tests of the kernel's debug mode of leases. Each misuse runs in its own process, which ends with a message and SIGABRT. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const ADDON = fileURLToPath(new URL('build/Release/gannet_kernel.node', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'gannet-kernel-leases-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Script that publishes a generation of one segment with one record, a vector segment and a part, and counts its leases. */
const PREAMBLE = `
  const kernel = require(${JSON.stringify(ADDON)});
  const path = process.argv[1] + '/' + process.argv[2] + '.mdb';
  const batch = Buffer.alloc(12);
  batch.writeUInt32LE(1, 0);
  kernel.buildSegment(path, { textFields: [{ name: 'title', weightUnits: 1 }], columns: [] }, new Uint8Array(batch));
  const segment = kernel.openSegment(path);
  const open = () => kernel.recordNumbers(segment);
  open();
  const vectorPath = path.replace('.mdb', '.gvs');
  const number = (values) => new Uint32Array(values);
  kernel.buildVectorSegment(vectorPath, { dimensions: 1, vectors: new Float32Array([1]), records: number([1]), places: number([0]) });
  const vectors = kernel.openVectorSegment(vectorPath);
  const rows = () => kernel.vectorSegmentRows(vectors);
  rows();
  const pagePath = path.replace('.mdb', '-pages.mdb');
  const columns = ['record', 'place'].map((name) => ({ name, type: 'number', many: false }));
  kernel.buildSegment(pagePath, { textFields: [], columns }, new Uint8Array(batch));
  const pages = kernel.openSegment(pagePath);
  const ofPages = () => kernel.findPartDocuments(pages, number([1]));
  const generation = kernel.publishGeneration({
    add: [{ segment }],
    vectors: { add: [{ segment: vectors }] },
    parts: [{ name: 'pages', add: [{ segment: pages }] }],
  });
  const part = kernel.generationParts(generation)[0].generation;
  const usePart = () => kernel.generationInfo(part).liveCount;
  usePart();
  const use = () => kernel.generationInfo(generation).liveCount;
  use();
  const count = (by) => kernel.countLeases(generation, by);
  if (kernel.checksLeases) count(0);
`;

let runs = 0;
function run(script: string, env: Readonly<Record<string, string>> = { GANNET_KERNEL_CHECK_LEASES: '1' }) {
  runs += 1;
  const { GANNET_KERNEL_CHECK_LEASES: _outer, ...inherited } = process.env;
  const { signal, status, stderr } = spawnSync(process.execPath, ['-e', PREAMBLE + script, folder, String(runs)], {
    env: { ...inherited, ...env },
    encoding: 'utf8',
  });
  return { signal, status, stderr };
}

describe('debug mode of leases', () => {
  it.each([
    ['use();', 'generation 2 was used without a lease'],
    ['count(1); use(); count(-1); use();', 'generation 2 was used without a lease'],
    ['open();', 'segment 1 was used without a lease of a generation that has it'],
    [
      'kernel.publishGeneration({ base: generation, remove: [segment] }); kernel.closeSegment(segment); open();',
      'segment 1',
    ],
    ['rows();', 'segment of vectors 1 was used without a lease of a generation that has it'],
    [
      'kernel.mergeVectorSegments(vectorPath + 2, [{ segment: vectors }]);',
      'segment of vectors 1 was used without a lease',
    ],
    ['kernel.deadVectors(generation, vectors);', 'generation 2 was used without a lease'],
    ['usePart();', 'part 1 was used without a lease of a generation that has it'],
    ['ofPages();', 'segment 2 was used without a lease of a generation that has it'],
    ['kernel.releaseGeneration(generation); usePart();', 'generation 1 was used after its release'],
    ['count(1); count(-1); kernel.releaseGeneration(generation); use();', 'generation 2 was used after its release'],
    ['count(1); kernel.releaseGeneration(generation);', 'generation 2 was released while it is leased'],
    ['kernel.releaseGeneration(generation); count(1);', 'generation 2 was leased after its release'],
    ['count(1); count(-1); count(-1);', 'generation 2 had a lease released twice'],
  ])('aborts the process with a message at: %s', (script, sentence) => {
    const { signal, stderr } = run(script);
    expect(stderr).toContain(`gannet kernel: ${sentence}`);
    expect(signal).toBe('SIGABRT');
  });

  it('accepts uses under a lease, and new generations of the owner', () => {
    const script = `
      count(1); use(); open(); rows(); usePart(); ofPages();
      const next = kernel.publishGeneration({ base: generation, settings: 'new' });
      kernel.countLeases(next, 0);
      use(); open(); rows();
      count(-1); kernel.releaseGeneration(generation);
      kernel.countLeases(next, 1); kernel.generationInfo(next); open(); usePart(); ofPages();`;
    expect(run(script)).toEqual({ signal: null, status: 0, stderr: '' });
  });

  it('is off unless GANNET_KERNEL_CHECK_LEASES is set', () => {
    const script = `
      use(); open();
      if (kernel.checksLeases) throw new Error('on');
      try { count(1); } catch (error) { process.exit(error.code === 'invalid-argument' ? 3 : 4); }`;
    expect(run(script, {})).toEqual({ signal: null, status: 3, stderr: '' });
  });
});
