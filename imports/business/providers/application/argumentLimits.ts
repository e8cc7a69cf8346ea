/** Upper bounds for what admins and users enter, in characters or entries. */

export const MAX_TEXT_LENGTH = 200;
export const MAX_URL_LENGTH = 2_048;
export const MAX_SECRET_LENGTH = 8_192;
export const MAX_LIST_LENGTH = 500;
