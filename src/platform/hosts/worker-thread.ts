/** A worker that is a thread of this process. It shares memory and kernel, and cannot be stopped within native code. */
import { Worker } from 'node:worker_threads';
import { startThreads } from '../garbage-collection.js';
import { Host, type HostOptions, type Vessel, type VesselEvents } from './host.js';
import { UP, type FromWorker, type Protocol } from './protocol.js';
import type { HostedData } from './serve-host.js';

export function createWorkerThread<P extends Protocol>(options: HostOptions<P>): Host<P> {
  return new Host(options, { launch: (events) => launch(options, events), killsLateCalls: false });
}

function launch<P extends Protocol>(options: HostOptions<P>, { onMessage, onExit }: VesselEvents): Vessel {
  const { name, entry, data, heapMibMax, niceness } = options;
  const workerData: HostedData = { data, niceness };
  const worker = startThreads(
    () => new Worker(entry, { workerData, resourceLimits: { maxOldGenerationSizeMb: heapMibMax }, name }),
    (thread) => [thread],
  );
  let failure: Error | undefined;
  worker.on('message', (message: FromWorker | typeof UP) => {
    if (message !== UP) onMessage(message);
  });
  worker.on('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  worker.once('exit', () => {
    onExit(failure);
  });
  return {
    say: (message) => {
      worker.postMessage(message);
    },
    kill: () => {
      void worker.terminate();
    },
  };
}
