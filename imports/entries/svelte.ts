/** `bolide/svelte`: runs and conversations as stores. */
export type { BrowserMeteor, BrowserMongo, BrowserPackages, BrowserTracker } from '../ui/data/meteor/BrowserPackages';
export type { DashboardData, RunData } from '../ui/data/DashboardData';
export type {
  AttachmentPart,
  ConversationMessage,
  MessagePart,
  TextPart,
  ToolPart,
} from '../ui/conversations/ConversationMessage';
export type { Conversation, ConversationOptions } from '../ui/conversations/observeConversation';
export type { LiveRun } from '../ui/conversations/observeRun';
export { createHttpData } from '../ui/data/http/createHttpData';
export type { HttpDataOptions } from '../ui/data/http/HttpData';
export type { HttpDashboardData } from '../ui/data/http/toDashboardData';
export { createMeteorData } from '../ui/data/meteor/createMeteorData';
export { createConversation, createRun } from '../ui/svelte/stores';
export type { Readable } from '../ui/svelte/stores';
