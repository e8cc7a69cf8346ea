import path from 'node:path';

/** The root of this repository. */
export const REPOSITORY = path.join(__dirname, '../../..');
