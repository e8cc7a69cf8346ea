/** Expands a call's card, scrolls it into view and focuses it. */
export function scrollToCall(callId: string): void {
  const card = document.getElementById(`call-${callId}`);
  if (!(card instanceof HTMLDetailsElement)) return;
  card.open = true;
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector('summary')?.focus({ preventScroll: true });
}
