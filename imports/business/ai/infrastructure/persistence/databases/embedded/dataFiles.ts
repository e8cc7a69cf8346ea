/** The names of what a data directory contains. */
export const DATA_EXTENSION = '.nedb';
/** Of the directory with a collection's long texts. */
export const TEXTS_EXTENSION = '.texts';
