/**
 * Segments that have to be rebuilt from the records: of another format, missing, damaged, or unreadable on disk. Other
 * reasons why a file cannot be opened (permissions, too many open files) are no reason to discard it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  isKernelError,
  type Kernel,
  type SegmentHandle,
  type VectorSegmentHandle,
} from '../../../native-bindings/index.js';
import { segmentsPath, type ListState, type PartName } from '../../store/index.js';

export type SegmentFault = 'unsupported-format' | 'damaged' | 'unreadable' | 'missing';

export class UnusableSegmentError extends Error {
  override readonly name = 'UnusableSegmentError';

  constructor(
    readonly path: string,
    readonly fault: SegmentFault,
    options: { readonly cause: Error },
  ) {
    super(`segment ${basename(path)} is unusable (${fault}): ${options.cause.message}`, options);
  }
}

/** An index of a version that cannot be opened, with its first unusable segment. */
export interface UnusableVersion {
  readonly version: number;
  /** Undefined: the index of the fields. */
  readonly part: PartName | undefined;
  /** Number of documents that the index will have. */
  readonly documents: number;
  readonly segment: UnusableSegmentError;
}

/** Thrown when a list is opened; has everything that is needed to rebuild it. */
export class UnusableIndexError extends Error {
  override readonly name = 'UnusableIndexError';
  readonly unusable: readonly UnusableVersion[];
  readonly state: ListState;
  /** Number of records of each version. */
  readonly recordCounts: ReadonlyMap<number, number>;
  /** Allocates a segment number that was never used. */
  readonly newSegment: () => number;

  constructor(listPath: string, found: Pick<UnusableIndexError, 'unusable' | 'state' | 'recordCounts' | 'newSegment'>) {
    super(
      `${listPath}: ${found.unusable.map(({ version, segment }) => `version ${version}: ${segment.message}`).join('; ')}`,
    );
    this.unusable = found.unusable;
    this.state = found.state;
    this.recordCounts = found.recordCounts;
    this.newSegment = found.newSegment;
  }
}

/** Damaged segments of a list, by path, with the kernel's error. */
export type DamagedSegments = ReadonlyMap<string, Error>;

const SEGMENT_FILE = /^\d+\.(?:mdb|gvs)$/;

/**
 * Verifies the checksums of all segments of a list that is about to be opened, one after the other and without blocking
 * the calling thread. Other faults show when they are opened.
 */
export async function damagedSegments(kernel: Kernel, listPath: string): Promise<DamagedSegments> {
  const damaged = new Map<string, Error>();
  const folder = segmentsPath(listPath);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => SEGMENT_FILE.test(file)) : [];
  for (const path of files.map((file) => join(folder, file))) {
    try {
      await (path.endsWith('.gvs')
        ? kernel.checkVectorSegmentInBackground(path)
        : kernel.checkSegmentInBackground(path));
    } catch (error) {
      if (isKernelError(error) && (error.code === 'damaged' || error.code === 'unreadable')) damaged.set(path, error);
    }
  }
  return damaged;
}

/**
 * Opens an existing segment. Throws UnusableSegmentError, also if it is among `damaged`, or KernelError if the file may
 * be intact.
 */
export function openSegment(kernel: Kernel, path: string, damaged: DamagedSegments): SegmentHandle {
  const open = (found: string) => kernel.openSegment(found);
  const close = (segment: SegmentHandle) => {
    kernel.closeSegment(segment);
  };
  return opened(path, damaged, { open, close });
}

/** As `openSegment`, for vectors. */
export function openVectorSegment(kernel: Kernel, path: string, damaged: DamagedSegments): VectorSegmentHandle {
  const open = (found: string) => kernel.openVectorSegment(found);
  const close = (segment: VectorSegmentHandle) => {
    kernel.closeVectorSegment(segment);
  };
  return opened(path, damaged, { open, close });
}

interface Opening {
  readonly open: (path: string) => number;
  readonly close: (handle: number) => void;
}

function opened(path: string, damaged: DamagedSegments, { open, close }: Opening): number {
  let segment: number | undefined;
  try {
    segment = open(path);
    const damage = damaged.get(path);
    if (damage !== undefined) throw damage;
    return segment;
  } catch (error) {
    if (segment !== undefined) close(segment);
    const fault = faultOf(error, path);
    throw fault === undefined ? error : new UnusableSegmentError(path, fault, { cause: error as Error });
  }
}

function faultOf(error: unknown, path: string): SegmentFault | undefined {
  if (!isKernelError(error)) return undefined;
  switch (error.code) {
    case 'unsupported-format':
    case 'damaged':
    case 'unreadable':
      return error.code;
    case 'io':
      return existsSync(path) ? undefined : 'missing';
    case 'invalid-argument':
    case 'disk-full':
    case 'limit':
    case 'stopped':
    case 'deadline':
    case 'slice':
      return undefined;
  }
}
