/** Settings of the files that records link to, and URLs of subtitles next to them. */
export { RESOURCE_SETTINGS } from './settings.js';
export { subtitleUrls } from './subtitle-urls.js';
