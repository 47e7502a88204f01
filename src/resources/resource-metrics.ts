/** Metrics of the files that records link to. */
import { Counter } from 'prom-client';
import type { ReadingOutcome } from '../extracts/index.js';
import type { Metrics } from '../platform/index.js';

export interface ResourceMetrics {
  /** Counts a reading; `bytes` were fetched. */
  told(outcome: ReadingOutcome, bytes: number): void;
  /** Counts bytes of sound transcribed by a model. */
  transcribed(bytes: number): void;
}

export function createResourceMetrics(metrics: Metrics): ResourceMetrics {
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers: [metrics.registry] });
  const files = counter(
    'gannet_resource_files_total',
    'Files that records link to which were looked at, by outcome: read, unchanged, unreachable, or why there is no text',
    ['outcome'],
  );
  const pages = counter('gannet_resource_pages_total', 'Pages that were read of files that records link to');
  const pictures = counter('gannet_resource_pictures_total', 'Pictures that were read of files that records link to');
  const frames = counter(
    'gannet_resource_frames_total',
    'Frames of videos that were read of files that records link to',
  );
  const fetched = counter(
    'gannet_resource_fetched_bytes_total',
    'Bytes that were fetched of files that records link to',
  );
  const pieces = counter(
    'gannet_transcribed_pieces_total',
    'Pieces of recordings in which a model wrote down what is said',
  );
  const sound = counter('gannet_transcribed_bytes_total', 'Bytes of sound in which a model wrote down what is said');
  return {
    transcribed(bytes) {
      pieces.inc();
      sound.inc(bytes);
    },
    told(outcome, bytes) {
      files.inc({ outcome: outcome.kind === 'unreadable' ? outcome.error : outcome.kind });
      fetched.inc(bytes);
      if (outcome.kind !== 'read') return;
      if (outcome.content.kind === 'document') pages.inc(outcome.content.pages.length);
      else if (outcome.content.kind === 'image') pictures.inc();
      else if (outcome.content.kind === 'frames') frames.inc(outcome.content.frames.length);
    },
  };
}
