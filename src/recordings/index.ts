/** Words of video and audio files, with their time. */
export * from './types.js';
export { cutSound, type PieceOfSound } from './cut-sound.js';
export { findFfmpeg } from './frames/ffmpeg.js';
export { VideoFrames, type Frame, type VideoFramesOptions } from './frames/video-frames.js';
export { passagesOf } from './passages.js';
export { RECORDINGS } from './recording-parts.js';
export { RecordingReader, type RecordingReaderOptions } from './recording-reader.js';
export { RECORDING_SETTINGS, type RecordingSettings } from './settings.js';
