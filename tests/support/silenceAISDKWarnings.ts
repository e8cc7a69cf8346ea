/** Keeps the AI SDK from logging the warnings of calls while the tests of a suite run. */
export function silenceAISDKWarnings(): void {
  let before: typeof globalThis.AI_SDK_LOG_WARNINGS;
  beforeEach(() => {
    before = globalThis.AI_SDK_LOG_WARNINGS;
    globalThis.AI_SDK_LOG_WARNINGS = false;
  });
  afterEach(() => {
    globalThis.AI_SDK_LOG_WARNINGS = before;
  });
}
