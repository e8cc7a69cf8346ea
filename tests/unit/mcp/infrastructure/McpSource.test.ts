/** Tools, resources and prompts of servers of the official SDK. */
import { describeMcpSource, SOURCE_REVISIONS } from '../../../support/mcp/mcpSourceSuite';

for (const revision of SOURCE_REVISIONS) describeMcpSource('http', revision);
