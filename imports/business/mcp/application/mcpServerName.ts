/** The name of an MCP server. */
import * as v from 'valibot';

const RULE = 'must be 1 to 32 characters of a-z, A-Z, 0-9, _ and -';

export const mcpServerName = v.pipe(v.string(RULE), v.regex(/^[a-zA-Z0-9_-]{1,32}$/, RULE));
