/** Where the files lie that records link to. */
export { mediaPlace, type MediaPlace } from './media-files.js';
export { subtitleUrls } from './subtitle-urls.js';
