/** Finds the machine's own ffmpeg, which decodes videos, and builds its arguments. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { RecordingFormat } from '../recording-format.js';

/** ffmpeg's demuxers of formats that may contain video. None of them opens other files. */
const DEMUXERS: Partial<Readonly<Record<RecordingFormat, string>>> = { mp4: 'mov', matroska: 'matroska', ogg: 'ogg' };
/** Longest side of a frame: models and the descriptor need less. */
const SIDE_MAX = 512;
/** Limit on the pixels of a frame in the file: 8K. */
const PIXELS_MAX = 8192 * 4320;
/** Limit for a single allocation of ffmpeg. */
const ALLOCATED_BYTES_MAX = 268_435_456;

/**
 * Returns the program's path, or undefined if there is none that can be executed. `name` is a path, a name to find in
 * PATH, or '' for none.
 */
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
  /** CPU time after which it ends by itself. */
  readonly secondsMax: number;
}

/**
 * Returns the arguments with which ffmpeg writes frames of its standard input as concatenated PNG files: what is
 * visible at second 0, at `everySeconds` and so on. Undefined for a format without pictures. ffmpeg may open no other
 * file, is told the recognised format, and uses no network.
 */
export function frameArguments(
  format: RecordingFormat,
  { everySeconds, framesMax, secondsMax }: FramesAsked,
): string[] | undefined {
  const demuxer = DEMUXERS[format];
  if (demuxer === undefined) return undefined;
  const filters = [
    // Rounding up shows the last frame before each time.
    `fps=fps=1/${everySeconds}:round=up:start_time=0`,
    `scale=w=${SIDE_MAX}:h=${SIDE_MAX}:force_original_aspect_ratio=decrease`,
    'format=rgb24',
  ];
  return [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-timelimit', String(secondsMax)],
    ...['-max_alloc', String(ALLOCATED_BYTES_MAX), '-filter_threads', '1'],
    ...['-protocol_whitelist', 'file,pipe', '-max_pixels', String(PIXELS_MAX), '-threads', '1'],
    // Skips frames that no other frames depend on: they resemble the ones before them.
    ...['-skip_frame', 'noref', '-f', demuxer, '-i', 'file:/dev/fd/0'],
    ...['-map', '0:V:0', '-vf', filters.join(','), '-frames:v', String(framesMax)],
    ...['-threads', '1', '-c:v', 'png', '-compression_level', '1', '-f', 'image2pipe', 'pipe:1'],
  ];
}
