/** Expands a card, scrolls it into view and focuses it. */
export function scrollToCall(callId: string): void {
  openCard(`call-${callId}`);
}

/** @param id of the element */
export function openCard(id: string): void {
  const card = document.getElementById(id);
  if (!(card instanceof HTMLDetailsElement)) return;
  card.open = true;
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector('summary')?.focus({ preventScroll: true });
}
