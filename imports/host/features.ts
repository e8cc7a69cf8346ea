/** The features of a host, in the order in which they are opened, started and closed. */
import { api } from '../api/feature';
import { ai } from '../business/ai/feature';
import { audit } from '../business/audit/feature';
import { batches } from '../business/batches/feature';
import { jobs } from '../business/jobs/feature';
import { limits } from '../business/limits/feature';
import { mcp } from '../business/mcp/feature';
import { memory } from '../business/memory/feature';
import { privacy } from '../business/privacy/feature';
import { prompts } from '../business/prompts/feature';
import { providers } from '../business/providers/feature';
import { requestLog } from '../business/requestLog/feature';
import { usage } from '../business/usage/feature';

// MCP servers are the first, since runs that go on need their tools. The audit trail records until the end.
export const FEATURES = [
  mcp,
  ai,
  api,
  limits,
  memory,
  batches,
  jobs,
  prompts,
  usage,
  requestLog,
  privacy,
  providers,
  audit,
] as const;
