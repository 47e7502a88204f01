/** The files that records link to: their settings, and where subtitles lie beside them. */
export { RESOURCE_SETTINGS } from './settings.js';
export { subtitleUrls } from './subtitle-urls.js';
