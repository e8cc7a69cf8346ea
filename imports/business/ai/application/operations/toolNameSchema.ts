/** The name of a tool. */
import * as v from 'valibot';

const RULE = 'must be the name of a tool: 1 to 64 letters, digits, "_" and "-"';

export const toolNameSchema = v.pipe(v.string(RULE), v.regex(/^[a-zA-Z0-9_-]{1,64}$/, RULE));
