/** Unfolds a call's card and goes there. */
export function scrollToCall(callId: string): void {
  const card = document.getElementById(`call-${callId}`);
  if (!(card instanceof HTMLDetailsElement)) return;
  card.open = true;
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector('summary')?.focus({ preventScroll: true });
}
