/** `bolide/node`: the server for plain Node, and the stores and queues that it is composed of. */
import { requireNode } from '../library/requireNode';
export { AgendaJobQueue, openAgendaQueue } from '../business/ai/infrastructure/jobs/AgendaJobQueue';
export { LocalJobQueue } from '../business/ai/infrastructure/jobs/LocalJobQueue';
export type { DocumentDatabase } from '../database/DocumentDatabase';
export { openDatabase } from '../database/openDatabase';
export type { DatabaseEnvironment } from '../database/openDatabase';
export {
  DocumentBackgroundCalls,
  openBackgroundCalls,
} from '../business/ai/infrastructure/persistence/background/DocumentBackgroundCalls';
export {
  DocumentBatchStore,
  openBatchStore,
} from '../business/ai/infrastructure/persistence/batches/DocumentBatchStore';
export {
  DocumentResponseStore,
  openResponseStore,
} from '../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
export { DocumentRunStore, openRunStore } from '../business/ai/infrastructure/persistence/runs/DocumentRunStore';
export { MemoryRunStore } from '../business/ai/infrastructure/persistence/runs/MemoryRunStore';
export { AgUiEncoder } from '../interop/agUi/AgUiEncoder';
export type { AgUiEncoderOptions } from '../interop/agUi/AgUiEncoder';
export type { AgUiEvent } from '../interop/agUi/AgUiEvents';
export type { AgUiMessage, RunAgentInput } from '../interop/agUi/AgUiMessages';
export { AgUiStreamEncoder } from '../interop/agUi/AgUiStreamEncoder';
export type { AgUiRunState } from '../interop/agUi/AgUiToolState';
export { readRunAgentInput } from '../interop/agUi/readRunAgentInput';
export { toConversation } from '../interop/agUi/toConversation';
export { createHost } from '../host/createHost';
export type { Host } from '../host/createHost';
export type { HostPorts, HostSettings } from '../host/HostSettings';
export { moduleFromEnvironment } from '../host/moduleFromEnvironment';
export type { OpenedModule } from '../host/moduleFromEnvironment';
export { runMcp } from '../host/node/runMcp';
export type { McpProgramOptions } from '../host/node/runMcp';
export { runServer } from '../host/node/runServer';
export { startServer } from '../host/node/startServer';
export type { RunningServer, ServerOptions } from '../host/node/startServer';
export { registerDemoTools } from '../host/registerDemoTools';
export type { Environment } from '../host/settings/environment';
export type {
  EnqueuedJob,
  EnqueueOptions,
  JobDefinition,
  JobReport,
  JobRun,
  JobSchedule,
} from '../business/jobs/application/ServerJobs';

requireNode();
