/**
 * The operations of a host by name, the same for every transport: in Meteor each is a method of that name, over HTTP a
 * route of its area's folder calls it.
 *
 * To add an area: add its interface here, its object to `createHostOperations.ts`, and the function that adds its
 * routes to `OPERATION_ROUTES` in `routes.ts`.
 */
import type { InboxOperations } from '../business/ai/application/operations/InboxOperations';
import type { AuditOperations } from '../business/ai/application/operations/AuditOperations';
import type { DefinedOperations } from '../host/operations';
import type { RequestOperations } from '../business/ai/application/operations/RequestOperations';
import type { AIMethods } from '../business/ai/application/operations/RunOperations';
import type { RunListOperations } from '../business/ai/application/operations/RunListOperations';
import type { RunExportOperations } from '../business/ai/application/operations/RunExportOperations';
import type { ToolSummary } from '../business/ai/domain/types/ToolSummary';
import type { UsageOperations } from '../business/ai/application/operations/UsageOperations';
import type { UserDataOperations } from '../business/ai/application/operations/UserDataOperations';
import type { AccountOperations } from './users/accountRoutes';
import type { TokenOperations } from './tokens/TokenOperations';
import type { Operation } from '../business/ai/domain/types/Operation';

export interface ToolOperations {
  readonly 'ai.tools.list': Operation<readonly ToolSummary[]>;
}

export type HostOperations = RunListOperations &
  AIMethods &
  RunExportOperations &
  InboxOperations &
  ToolOperations &
  UserDataOperations &
  AccountOperations &
  TokenOperations &
  DefinedOperations &
  UsageOperations &
  AuditOperations &
  RequestOperations;
