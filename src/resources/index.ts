/** Where subtitles lie beside the files that records link to. */
export { subtitleUrls } from './subtitle-urls.js';
