export { Secret } from './secret.js';
export { SecretBox, SecretUnreadableError, type Resealer } from './secret-box.js';
