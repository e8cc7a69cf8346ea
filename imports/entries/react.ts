/** `bolide/react`: the dashboard as a component, and hooks. */
export { EmbeddedDashboard as Dashboard } from '../ui/embedded/EmbeddedDashboard';
export { mountEmbeddedDashboard as mountDashboard } from '../ui/embedded/mountEmbeddedDashboard';
export type { MountOptions } from '../ui/mountPage';
export type { DashboardData, LiveText } from '../ui/data/DashboardData';
export { createHttpData } from '../ui/data/http/createHttpData';
export type { HttpDashboardData } from '../ui/data/http/toDashboardData';
export type { HttpDataOptions } from '../ui/data/http/HttpData';
export { BolideProvider } from '../ui/hooks/BolideProvider';
export type {
  AttachmentPart,
  ConversationMessage,
  MessagePart,
  TextPart,
  ToolPart,
} from '../ui/conversations/ConversationMessage';
export type { CallCommands } from '../ui/conversations/createCallCommands';
export { useConversation } from '../ui/hooks/useConversation';
export type {
  Conversation,
  ConversationOptions as UseConversationOptions,
} from '../ui/conversations/observeConversation';
export { useDelta } from '../ui/hooks/useDelta';
export { useRun } from '../ui/hooks/useRun';
export type { LiveRun } from '../ui/conversations/observeRun';
export type { QueuedMessage, RunMessages } from '../ui/conversations/createRunMessages';
export type { BrowserMeteor, BrowserMongo, BrowserPackages, BrowserTracker } from '../ui/data/meteor/BrowserPackages';
export { createMeteorData } from '../ui/data/meteor/createMeteorData';
export { BolideChatTransport } from '../interop/aiSdk/BolideChatTransport';
export type { BolideChatTransportOptions } from '../interop/aiSdk/BolideChatTransport';
