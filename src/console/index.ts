export { openConsoleSite, type ConsoleSiteOptions } from './console-site.js';
