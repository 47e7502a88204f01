/** Observes the resources of a service in a soak from outside: memory by kind, descriptors and maps by target, threads, processes, the disk by folder, and metrics. Linux only. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { residentMemory } from '../end-to-end/lib/service.mjs';

const BYTES_A_MIB = 2 ** 20;
const BYTES_A_BLOCK = 512;
/** Metrics of Node.js and the service, without parts of histograms and metrics that only name a version (`PARTS`). */
const GAUGES = /^(process_|nodejs_|gannet_)[a-z_]*(\{[^}]*\})? [\d.e+-]+$/;
const PARTS = /_bucket|_version_info|heap_space|gc_duration|eventloop|_request_seconds/;

export const total = (counts) => Object.values(counts).reduce((sum, each) => sum + each, 0);
const count = (counts, name, more = 1) => (counts[name] = (counts[name] ?? 0) + more);

/** Returns the kind of a file: its path without numbers and unique names. */
function kindOf(path, dataDir) {
  const below = path.startsWith(dataDir) ? path.slice(dataDir.length + 1) : path;
  const plain = below
    .replace(/^(lists|analytics|feeds|media|extracts|webhooks)\/[^/]+/, '$1/…')
    .replaceAll(/[0-9a-f]{6,}(-[0-9a-f]+)*/g, '…')
    .replaceAll(/\d+/g, '#');
  return plain.startsWith('/usr') || plain.startsWith('/lib') ? 'libraries' : plain;
}

/** Counts the descriptors of a process by kind. */
function descriptorsOf(pid, dataDir) {
  const kinds = {};
  const folder = `/proc/${pid}/fd`;
  for (const name of readdirSync(folder)) {
    let target;
    try {
      target = readlinkSync(join(folder, name));
    } catch {
      continue; // The descriptor was closed meanwhile.
    }
    count(kinds, /^[a-z]/.test(target) ? target.replace(/\[\d+\]$/, '') : kindOf(target, dataDir));
  }
  return kinds;
}

function mapsOf(pid, dataDir) {
  const kinds = {};
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const path = line.split(/\s+/).slice(5).join(' ');
    if (line !== '') count(kinds, path === '' ? 'anonymous' : kindOf(path, dataDir));
  }
  return kinds;
}

/** Yields all files below a folder, ignoring folders that disappear meanwhile. */
function* filesBelow(path) {
  let entries;
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    if (entry.isDirectory()) yield* filesBelow(join(path, entry.name));
    else if (entry.isFile()) yield join(path, entry.name);
  }
}

/** Returns the MiB on disk and the number of files by top folder. A sparse file counts with the blocks that it uses. */
function diskOf(path) {
  const folders = {};
  for (const at of filesBelow(path)) {
    const stat = statSync(at, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    const [first] = at.slice(path.length + 1).split('/');
    const folder = (folders[first] ??= { files: 0, mib: 0 });
    folder.files += 1;
    folder.mib += (stat.blocks * BYTES_A_BLOCK) / BYTES_A_MIB;
  }
  return folders;
}

/** Returns the ids of the running child processes. */
export function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      return []; // The thread has ended meanwhile.
    }
  });
}

/** Counts child processes by their program. */
function processesOf(pid) {
  const kinds = {};
  for (const child of childrenOf(pid)) {
    try {
      const words = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      count(kinds, (words.find((word) => /\.[cm]?js$/.test(word)) ?? words[0]).split('/').at(-1));
    } catch {
      // The process has ended meanwhile.
    }
  }
  return kinds;
}

/** Returns the metrics by name with labels. */
export function metricsOf(text) {
  const found = {};
  for (const line of text.split('\n')) {
    if (!GAUGES.test(line) || PARTS.test(line)) continue;
    const at = line.lastIndexOf(' ');
    found[line.slice(0, at)] = Number(line.slice(at + 1));
  }
  return found;
}

/** Returns a sample of all resources. `metrics` is the answer of the service. */
export function observed({ pid, dataDir, elapsedS, metrics }) {
  const memory = residentMemory(pid);
  const [descriptorKinds, mapKinds, processes] = [descriptorsOf(pid, dataDir), mapsOf(pid, dataDir), processesOf(pid)];
  const disk = diskOf(dataDir);
  return {
    elapsedS,
    ownMib: memory.anonymous,
    memory,
    descriptors: total(descriptorKinds),
    descriptorKinds,
    maps: total(mapKinds),
    mapKinds,
    threads: readdirSync(`/proc/${pid}/task`).length,
    processes,
    diskMib: Object.values(disk).reduce((sum, { mib }) => sum + mib, 0),
    files: Object.values(disk).reduce((sum, { files }) => sum + files, 0),
    disk,
    metrics: metricsOf(metrics),
  };
}

const CALLS = /^gannet_http_requests_total\{operation="([^"]+)",status="(\d+)"\}$/;

/** Returns from the metrics how often each operation was answered, and how often with a server error, by status. */
export function callsOf(metrics) {
  const [times, failed] = [{}, {}];
  for (const [name, value] of Object.entries(metrics)) {
    const [, operation, status] = CALLS.exec(name) ?? [];
    if (operation === undefined) continue;
    count(times, operation, value);
    if (status.startsWith('5')) count(failed, `${operation} ${status}`, value);
  }
  return { times, failed };
}

/** Counts equal lines of the log, without their numbers and ids. */
export function saidIn(log) {
  const times = {};
  for (const line of log.split('\n').filter(Boolean)) {
    let said = line;
    try {
      const { level, msg, error, err } = JSON.parse(line);
      said = `${level}: ${msg} ${JSON.stringify(error ?? err ?? '').slice(0, 200)}`;
    } catch {
      // The line is no JSON entry.
    }
    count(times, said.replaceAll(/[0-9a-f-]{8,}|\d{2,}/g, '…').slice(0, 300));
  }
  return times;
}
