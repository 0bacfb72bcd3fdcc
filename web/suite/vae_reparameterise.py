"""A variational autoencoder: reparameterisation and its loss."""
# input: x=float32[16,128]
# input: noise=float32[16,12]
import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, inputs=128, hidden=64, latent=12):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, inputs)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps):
        std = torch.exp(0.5 * logvar)
        return mu + eps * std

    def forward(self, x, noise):
        target = torch.sigmoid(x)
        mu, logvar = self.encode(target)
        recon = torch.sigmoid(self.fc4(F.relu(self.fc3(self.reparameterize(mu, logvar, noise)))))
        bce = F.binary_cross_entropy(recon, target, reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return (bce + kld) / x.shape[0]


torch.manual_seed(0)
model = VAE().eval()
