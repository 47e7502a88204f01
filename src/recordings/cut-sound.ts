/**
 * Cuts a recording into files that are short enough to send, if that is possible without decoding: WAV between samples,
 * MP3 between frames. Pure functions.
 */
import { MIME_TYPES, recordingFormat, type RecordingFormat } from './recording-format.js';

export interface SoundFile {
  readonly bytes: Uint8Array;
  readonly fileName: string;
  readonly mimeType: string;
}

export interface PieceOfSound {
  /** Creates the piece on demand, so that not all are in memory at once. */
  readonly sound: () => SoundFile;
  /** Time at which the piece begins. */
  readonly seconds: number;
}

/** Extensions by which servers recognise the formats. */
const ENDINGS: Readonly<Record<RecordingFormat, string>> = {
  mp4: 'mp4',
  matroska: 'webm',
  ogg: 'ogg',
  flac: 'flac',
  mp3: 'mp3',
  aac: 'aac',
  wav: 'wav',
  aiff: 'aiff',
};
const CHUNK_HEAD_BYTES = 8;
const RIFF_HEAD_BYTES = 12;
const FORMAT_BYTES = 16;
const PIECES_MAX = 10_000;

/** Returns the whole file if it is short enough. Undefined if it is too long and cannot be cut, or is no recording. */
export function cutSound(bytes: Uint8Array, bytesMax: number): PieceOfSound[] | undefined {
  const format = recordingFormat(bytes);
  if (format === undefined) return undefined;
  if (bytes.length <= bytesMax) return [{ sound: () => soundOf(format, bytes), seconds: 0 }];
  const pieces = format === 'wav' ? cutWav(bytes, bytesMax) : format === 'mp3' ? cutMp3(bytes, bytesMax) : undefined;
  return pieces !== undefined && pieces.length <= PIECES_MAX ? pieces : undefined;
}

function soundOf(format: RecordingFormat, bytes: Uint8Array): SoundFile {
  return { bytes, fileName: `recording.${ENDINGS[format]}`, mimeType: MIME_TYPES[format] };
}

/** Cuts a WAV file; each piece gets its own header. */
function cutWav(bytes: Uint8Array, bytesMax: number): PieceOfSound[] | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Buffer | undefined;
  for (let at = RIFF_HEAD_BYTES; at + CHUNK_HEAD_BYTES <= file.length;) {
    const [id, length] = [file.toString('latin1', at, at + 4), file.readUInt32LE(at + 4)];
    const begin = at + CHUNK_HEAD_BYTES;
    if (id === 'fmt ' && length >= FORMAT_BYTES) format = file.subarray(begin, Math.min(begin + length, file.length));
    if (id === 'data') return format && wavPieces(format, file.subarray(begin, begin + length), bytesMax);
    at = begin + length + (length % 2);
  }
  return undefined;
}

function wavPieces(format: Buffer, data: Buffer, bytesMax: number): PieceOfSound[] | undefined {
  if (format.length < FORMAT_BYTES) return undefined;
  const [bytesASecond, frameBytes] = [format.readUInt32LE(8), format.readUInt16LE(12)];
  const headBytes = RIFF_HEAD_BYTES + 2 * CHUNK_HEAD_BYTES + format.length;
  const pieceBytes = Math.floor((bytesMax - headBytes) / frameBytes) * frameBytes;
  if (bytesASecond === 0 || !(pieceBytes > 0)) return undefined;
  const pieces: PieceOfSound[] = [];
  for (let begin = 0; begin < data.length && pieces.length <= PIECES_MAX; begin += pieceBytes) {
    const sound = () => soundOf('wav', wavOf(format, data.subarray(begin, begin + pieceBytes)));
    pieces.push({ sound, seconds: begin / bytesASecond });
  }
  return pieces;
}

function wavOf(format: Buffer, data: Buffer): Buffer {
  const head = Buffer.alloc(RIFF_HEAD_BYTES + 2 * CHUNK_HEAD_BYTES + format.length);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(head.length - CHUNK_HEAD_BYTES + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(format.length, 16);
  format.copy(head, RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES);
  head.write('data', head.length - CHUNK_HEAD_BYTES, 'latin1');
  head.writeUInt32LE(data.length, head.length - 4);
  return Buffer.concat([head, data]);
}

// Sample rates by the two bits of the version (2.5, reserved, 2, 1), and kbit/s of layer 3 for version 1 and for the
// others.
const RATES = [[11_025, 12_000, 8000], [], [22_050, 24_000, 16_000], [44_100, 48_000, 32_000]] as const;
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const VERSION_1 = 3;
const LAYER_3 = 1;

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** Undefined if no frame begins there. */
function frameAt(file: Uint8Array, at: number): Frame | undefined {
  const [first = 0, second = 0, third = 0] = [file[at], file[at + 1], file[at + 2]];
  const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
  if (first !== 0xff || second >> 5 !== 7 || layer !== LAYER_3) return undefined;
  const rate = RATES[version]?.[(third >> 2) & 3];
  const kilobits = (version === VERSION_1 ? KILOBITS_1 : KILOBITS_2)[third >> 4];
  if (rate === undefined || kilobits === undefined || kilobits === 0) return undefined;
  const samples = version === VERSION_1 ? 1152 : 576;
  return { bytes: Math.floor((samples * 125 * kilobits) / rate) + ((third >> 1) & 1), seconds: samples / rate };
}

/** Cuts an MP3 file. Data between frames, mostly tags, is dropped. */
function cutMp3(file: Uint8Array, bytesMax: number): PieceOfSound[] | undefined {
  const pieces: PieceOfSound[] = [];
  let [begin, end, seconds, beginSeconds] = [-1, 0, 0, 0];
  const cut = () => {
    if (begin >= 0) {
      const piece = file.subarray(begin, end);
      pieces.push({ sound: () => soundOf('mp3', piece), seconds: beginSeconds });
    }
    begin = -1;
  };
  for (let at = tagBytes(file); at < file.length;) {
    const frame = frameAt(file, at);
    if (frame === undefined) {
      cut();
      at += 1;
      continue;
    }
    if (frame.bytes > bytesMax) return undefined;
    if (begin >= 0 && at + frame.bytes - begin > bytesMax) cut();
    if (begin < 0) [begin, beginSeconds] = [at, seconds];
    end = Math.min(at + frame.bytes, file.length);
    seconds += frame.seconds;
    at = end;
  }
  cut();
  return pieces;
}

function tagBytes(file: Uint8Array): number {
  if (Buffer.from(file.subarray(0, 3)).toString('latin1') !== 'ID3') return 0;
  const sizes = [6, 7, 8, 9].map((at) => (file[at] ?? 0) & 0x7f);
  return 10 + sizes.reduce((sum, byte) => sum * 128 + byte, 0);
}
