// Browsers start no worker from disk; there the search of the site runs in a hidden frame instead.
if (location.protocol === "file:") {
  const prelude = `
    self.importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() => new Promise((done) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = done;
      document.body.append(script);
    })), Promise.resolve());
    self.postMessage = (data) => frameElement.deliver(data);`;

  // The theme looks for this name.
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.deliver = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      document.body.append(frame);
      const page = frame.contentDocument;
      this.ready = new Promise((done) => { frame.deliverReady = done; });
      page.open();
      page.write(`<body><script>${prelude}</script><script src="${address}" onload="frameElement.deliverReady()"></script></body>`);
      page.close();
      this.frame = frame;
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;
}
