/** The program that decodes videos, which is the machine's own: where it is, and how it is asked for frames. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RecordingFormat } from '../recording-format.js';

/** Its demuxers of what may be a video: none of those that open other files. */
const DEMUXERS: Partial<Readonly<Record<RecordingFormat, string>>> = { mp4: 'mov', matroska: 'matroska', ogg: 'ogg' };
/** Of frames: models and the descriptor see less of them. */
const SIDE_MAX = 512;
/** Of a frame of the file: 8K. */
const PIXELS_MAX = 8192 * 4320;
/** That it allocates at a time. */
const ALLOCATED_BYTES_MAX = 268_435_456;

/** Its path; undefined where there is none that may be run. `name`: a path, or a name to be found in PATH; '' for none. */
export function findFfmpeg(name: string, path = process.env['PATH'] ?? ''): string | undefined {
  if (name === '') return undefined;
  const candidates = isAbsolute(name) ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  return candidates.find((candidate) => isProgram(candidate));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isAbsolute(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}

export interface FramesAsked {
  readonly everySeconds: number;
  readonly framesMax: number;
  /** Of a processor, after which it ends by itself. */
  readonly secondsMax: number;
}

/**
 * Frames of the file that is its standard input, as PNG files one behind the other: what is to be seen at second 0, at `everySeconds` and so on. Undefined for
 * a format that holds no pictures. It may open nothing else, is named the format that the bytes were recognised as, and speaks to no network.
 */
export function frameArguments(
  format: RecordingFormat,
  { everySeconds, framesMax, secondsMax }: FramesAsked,
): string[] | undefined {
  const demuxer = DEMUXERS[format];
  if (demuxer === undefined) return undefined;
  const filters = [
    // Rounded up, what was there last is shown at each of the times.
    `fps=fps=1/${everySeconds}:round=up:start_time=0`,
    `scale=w=${SIDE_MAX}:h=${SIDE_MAX}:force_original_aspect_ratio=decrease`,
    'format=rgb24',
  ];
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-timelimit', String(secondsMax)],
    ...['-max_alloc', String(ALLOCATED_BYTES_MAX), '-filter_threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-max_pixels', String(PIXELS_MAX), '-threads', '1'],
    // Pictures that no others are made of are left out: they are near to those before them.
    ...['-skip_frame', 'noref', '-f', demuxer, '-i', 'file:/dev/fd/0'],
    ...['-map', '0:V:0', '-vf', filters.join(','), '-frames:v', String(framesMax)],
    ...['-threads', '1', '-c:v', 'png', '-compression_level', '1', '-f', 'image2pipe', 'pipe:1'],
  ];
}
