/** `bolide/meteor-client`: reactive helpers for browsers, without React, for Tracker and Blaze. */
export type {
  AttachmentPart,
  ConversationMessage,
  MessagePart,
  TextPart,
  ToolPart,
} from '../ui/conversations/ConversationMessage';
export type { Conversation, ConversationOptions } from '../ui/conversations/observeConversation';
export { DashboardError } from '../ui/data/DashboardData';
export type {
  BrowserMeteor,
  BrowserMongo,
  BrowserPackages,
  BrowserTracker,
  SubscriptionError,
} from '../ui/data/meteor/BrowserPackages';
export { createBolide } from '../ui/data/meteor/createBolide';
export type { AIMethods, Bolide } from '../ui/data/meteor/createBolide';
export { createMeteorHelpers } from '../ui/data/meteor/createMeteorHelpers';
export type { MeteorHelpers } from '../ui/data/meteor/createMeteorHelpers';
export { openCollections } from '../ui/data/meteor/openCollections';
export type {
  PublishedCollection,
  PublishedCollections,
  PublishedCursor,
  PublishedOptions,
  PublishedSelector,
} from '../ui/data/meteor/openCollections';
export type { TrackedDelta } from '../ui/data/meteor/trackDelta';
export type { TrackedRun } from '../ui/data/meteor/trackRun';
export type { SubscriptionStatus } from '../ui/data/meteor/trackSubscription';
export type { ToolCallFilter, TrackedToolCalls } from '../ui/data/meteor/trackToolCalls';
