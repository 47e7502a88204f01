export { clientSource, functionName } from './client-source.js';
