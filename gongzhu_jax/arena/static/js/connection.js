// The WebSocket: says hello, comes back by itself, and matches answers to questions.

const PROTOCOL = 1;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const BAD_NAME = new Set(["taken", "forbidden", "malformed"]);

const lostError = () => Object.assign(new Error("the connection has ended"), { code: "gone" });

export class Connection {
  #socket = null;
  #name;
  #handlers;
  #next = 1;
  #waiting = new Map();
  #delay = FIRST_WAIT;
  #renaming = null;

  /** `onMessage(message)` for what comes unasked; `onWelcome(welcome)` and `onLost()` when the
   * connection comes and goes; `otherName(error)` gives a name instead of one that is refused;
   * `onRefused(error)` if the server does not take anybody now. */
  constructor(name, handlers) {
    this.#name = name;
    this.#handlers = handlers;
    this.#open();
  }

  /** Resolves when the server knows us by another name; rejects, and the old one stays. */
  async rename(name) {
    const before = this.#name;
    this.#name = name;
    try {
      await new Promise((resolve, reject) => {
        this.#renaming = { resolve, reject };
        this.#delay = 0;
        this.#socket.close();
      });
    } catch (error) {
      this.#name = before;
      this.#socket.close();
      throw error;
    } finally {
      this.#renaming = null;
    }
  }

  tell(type, fields = {}) {
    if (this.#socket.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify({ type, ...fields }));
    return true;
  }

  /** Resolves to the answer, or throws an Error with the server's `code`. */
  ask(type, fields = {}) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (!this.tell(type, { ...fields, id })) {
        this.#waiting.delete(id);
        reject(lostError());
      }
    });
  }

  #open() {
    const address = new URL("ws", document.baseURI);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.onopen = () => this.#hello();
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = () => this.#lost();
  }

  async #hello() {
    let welcome;
    try {
      welcome = await this.ask("hello", { protocol: PROTOCOL, name: this.#name });
    } catch (error) {
      this.#refused(error);
      return;
    }
    this.#delay = FIRST_WAIT;
    this.#handlers.onWelcome(welcome);
    this.#renaming?.resolve();
  }

  /** The page never stays dead: with another name at once, otherwise after a while. */
  #refused(error) {
    if (error.code === "gone") return; // the closing says the rest
    if (this.#renaming && BAD_NAME.has(error.code)) {
      this.#renaming.reject(error);
    } else if (BAD_NAME.has(error.code)) {
      this.#name = this.#handlers.otherName(error);
      this.#delay = 0;
      this.#socket.close();
    } else {
      this.#handlers.onRefused(error);
      this.#socket.close();
    }
  }

  #receive(message) {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) {
      this.#handlers.onMessage(message);
      return;
    }
    this.#waiting.delete(message.id);
    if (message.type === "error") {
      waiting.reject(Object.assign(new Error(message.message), { code: message.code }));
    } else {
      waiting.resolve(message);
    }
  }

  #lost() {
    for (const { reject } of this.#waiting.values()) reject(lostError());
    this.#waiting.clear();
    if (this.#delay > 0) this.#handlers.onLost();
    setTimeout(() => this.#open(), this.#delay);
    this.#delay = Math.min(Math.max(2 * this.#delay, FIRST_WAIT), LONGEST_WAIT);
  }
}
