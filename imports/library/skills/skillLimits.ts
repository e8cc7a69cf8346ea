/** What of a file is given to a model. */
export const MAX_FILE_BYTES = 256 * 1024;
