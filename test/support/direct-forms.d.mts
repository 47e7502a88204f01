import type { ShortForms } from '../../src/platform/hosts/index.js';

export declare const directForms: ShortForms;
