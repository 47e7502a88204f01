/**
 * Process that only reads untrusted pictures: it can open no file except the program's, and is given the bytes to read.
 */
import { serveHost } from '../platform/hosts/serve-host.js';
import type { PictureProtocol } from './picture-protocol.js';
import { readPicture, shapePicture } from './read-picture.js';
import { PictureError } from './types.js';

serveHost<PictureProtocol>(() => ({
  answers: {
    ready: () => null,
    read: async ({ bytes, limits: { shape, ...limits } }) => {
      try {
        return await (shape === undefined ? readPicture(bytes, limits) : shapePicture(bytes, limits, shape));
      } catch (error) {
        if (error instanceof PictureError) return { fault: error.fault, message: error.message };
        throw error;
      }
    },
  },
  notices: {},
}));
