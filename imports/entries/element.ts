/** `bolide/element`: the custom element `<bolide-chat>`. */
export type { BrowserMeteor, BrowserMongo, BrowserPackages, BrowserTracker } from '../ui/data/meteor/BrowserPackages';
export type { DashboardData, RunData } from '../ui/data/DashboardData';
export type {
  AttachmentPart,
  ConversationMessage,
  MessagePart,
  TextPart,
  ToolPart,
} from '../ui/conversations/ConversationMessage';
export type { Conversation } from '../ui/conversations/observeConversation';
export { createHttpData } from '../ui/data/http/createHttpData';
export type { HttpDataOptions } from '../ui/data/http/HttpData';
export type { HttpDashboardData } from '../ui/data/http/toDashboardData';
export { createMeteorData } from '../ui/data/meteor/createMeteorData';
export { defineBolideChat } from '../ui/element/defineBolideChat';
export type { BolideChatElement, DefineOptions } from '../ui/element/defineBolideChat';
